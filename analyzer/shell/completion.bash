# bash completion for fabtap

# Live sources that can be opened, and the beginnings of virtual devices.
_fabtap_sources() {
	fabtap sources 2>/dev/null | sed -n '/not usable/d; s/^  \([a-z]*:[^ ]*\) .*/\1/p'
	echo "dpdk:net_af_packet0,iface= dpdk:net_af_xdp0,iface= dpdk:net_pcap0,rx_pcap="
}

_fabtap() {
	local line=${COMP_LINE:0:COMP_POINT} verb=${COMP_WORDS[1]}
	local word=${line##*[[:space:]]} # whole: bash cuts it at colons
	local before=${line%"$word"} previous words reply
	local live="--interface --duration --snapshot-length --filter --buffer --allow-tx-queue --verbose"
	local job="--map --read --count --topology --key --map-format --allow-both-pkeys --flows --workers --link-gbps --rd --roce-port --mirror-vlan --no-icrc $live --help"

	read -ra previous <<<"$before"
	case ${previous[-1]} in
	-i | --interface | --test) words=$(_fabtap_sources) ;;
	--rd) words="iba dc opaque" ;;
	--map-format) words="tapmap opensm" ;;
	-o | --output)
		words="text json"
		[[ $verb == decode ]] && words="text json fields"
		[[ $verb == nccl ]] && words="text json inspector"
		;;
	-T) words="text json fields" ;;
	--where) words="tenant= host= address= qp= pkey= rule= verdict= vlan= vni= transport= class= nccl=" ;;
	--sort) words="packets bytes messages retransmitted fabric_lost mirror_lost naks cnps ce_marked tenant rule" ;;
	-e) words=$(fabtap decode --list-fields 2>/dev/null | cut -d' ' -f1) ;;
	esac
	if [[ -z $words && $COMP_CWORD -eq 1 ]]; then
		words="audit capture decode flows nccl explain map sources probe help --version --help"
	elif [[ -z $words && $verb == map && $COMP_CWORD -eq 2 ]]; then
		words="check show ask lint diff convert"
	elif [[ -z $words && $verb == probe && $COMP_CWORD -eq 2 ]]; then
		words="passive"
	elif [[ -z $words && $verb == help ]]; then
		words="audit capture decode flows nccl explain map sources probe help"
	elif [[ -z $words && $word == -* ]]; then
		case $verb in
		audit) words="$job --json --output --write --min-coverage --no-nccl" ;;
		capture) words="$job --json --write --rotate-size --rotate-time --rotate-count --disk-limit --tenant --pkey --qp --address --rule" ;;
		decode) words="$job --json --output -T -e --list-fields --nccl --keys" ;;
		flows) words="$job --json --output --where --sort --top --nccl" ;;
		nccl) words="$job --json --output --messages --keys" ;;
		explain) words="$job --json --output" ;;
		map) words="--map-format --topology --key --allow-both-pkeys --json --output --at --port --pair --help" ;;
		probe) words="--for --one-way --switch-rx --root --buffer --allow-tx-queue --verbose --json --help" ;;
		sources) words="--test --duration --snapshot-length --filter --buffer --allow-tx-queue --verbose --install-extcap --json --help" ;;
		esac
	elif [[ -z $words && $verb == probe && ${previous[-1]} == passive ]]; then
		words=$(_fabtap_sources)
	fi
	if [[ -z $words ]]; then
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
		return
	fi
	mapfile -t reply < <(compgen -W "$words" -- "$word")
	compopt +o filenames
	[[ ${#reply[@]} -eq 1 && ${reply[0]} == *= ]] && compopt -o nospace
	COMPREPLY=("${reply[@]#"${word%"${word##*[:=]}"}"}")
}

complete -o filenames -F _fabtap fabtap
